require 'json'

# if a == b
class Cart
  def add(item, count)
    return if count <= 0
    raise ArgumentError, "no 1" unless item
    @items << item
    @total = @total + item.price * count
  end

  def empty?
    if @items.size == 0 and not @open
      true
    else
      false
    end
  end
end
